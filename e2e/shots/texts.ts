/** An answer with everything that Markdown brings: headings, lists, a table, code, a quote, a link. */
export const report = `The last winter was the mildest of the three, and the new thermostat shows in the figures.

## What changed

| Winter | Gas, kWh | Cost, € | Days below 0 °C |
| --- | ---: | ---: | ---: |
| 2022/23 | 14,210 | 1,705.20 | 41 |
| 2023/24 | 12,880 | 1,416.80 | 33 |
| 2024/25 | 9,940 | 1,192.80 | 19 |

- The **milder weather** explains about half of it.
- The thermostat, set to \`19.5 °C\` at night, explains most of the rest.
  - Its own use is about 2 W.
- One reading in January is a guess.

> A guess stays a guess until the meter is read again.

### A script for the sums

\`\`\`python
from dataclasses import dataclass

@dataclass
class Winter:
    name: str
    kwh: int
    price: float  # euro per kWh

    def cost(self) -> float:
        """What this winter cost, in euro."""
        return round(self.kwh * self.price, 2)

winters = [Winter("2022/23", 14_210, 0.12), Winter("2023/24", 12_880, 0.11)]
print(sum(w.cost() for w in winters), "€ in all of them together, without the standing charge that the supplier adds")
\`\`\`

1. Read the meter on the same day each year.
2. Put the new line into the list.
3. Run it again.

More on [how the factor is made](https://example.org/kwh-factor).`;

export const longCode = `Here it is.

\`\`\`typescript
${Array.from({ length: 520 }, (_, i) => `export const line${i + 1} = ${i + 1}; // line ${i + 1}`).join('\n')}
\`\`\`
`;
