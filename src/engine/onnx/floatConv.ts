import type { Constant, Graph, Node } from './graph.ts';

/** Element types of constants, from onnx.proto. */
const elementFloat = 1;
const elementUint8 = 2;
const elementInt8 = 3;

/**
 * Convolutions over integers become ones over floats: `DynamicQuantizeLinear → ConvInteger [→ Add of an integer bias] → Cast → Mul` becomes
 * `DequantizeLinear(weights) → Conv(what was quantised, weights, float bias)` in the place of the Mul. The library has no fast kernel for
 * ConvInteger on most processors, which is 79 % of Kokoro's time (speech facts, section 6). The weights stay the 8-bit numbers they are.
 * What nothing uses any more goes. The same graph gives the same result.
 *
 * @returns the new graph and how many convolutions were changed; those that do not look exactly like this stay.
 */
export function floatConvolutions(graph: Graph): { graph: Graph; changed: number } {
  const find = indexOf(graph);
  /** The Mul that ends a chain → what takes its place. */
  const replaced = new Map<Node, Node>();
  /** By the name of the weights, which two convolutions may share. They need nothing but constants, so they come first. */
  const weights = new Map<string, Node>();
  for (const node of graph.nodes) {
    if (node.kind !== 'ConvInteger' || node.domain !== '') continue;
    const chain = chainOf(node, find);
    if (chain === null) continue;
    const floatWeights = `${chain.weights}/float`;
    weights.set(chain.weights, plain('DequantizeLinear', [chain.weights, chain.scale, chain.zero], floatWeights));
    const inputs = [chain.input, floatWeights, ...(chain.bias === null ? [] : [chain.bias])];
    const [output = ''] = chain.end.outputs;
    replaced.set(chain.end, { ...plain('Conv', inputs, output), name: node.name, attributes: node.attributes });
  }
  const nodes = [...weights.values(), ...graph.nodes.map((node) => replaced.get(node) ?? node)];
  return { graph: withoutUnused({ ...graph, nodes }), changed: replaced.size };
}

type Index = {
  maker(name: string): Node | undefined;
  users(name: string): readonly Node[];
  constant(name: string): Constant | undefined;
  isResult(name: string): boolean;
};

function indexOf(graph: Graph): Index {
  const makers = new Map<string, Node>();
  const users = new Map<string, Node[]>();
  for (const node of graph.nodes) {
    for (const name of node.outputs) makers.set(name, node);
    for (const name of node.inputs) {
      const list = users.get(name);
      if (list === undefined) users.set(name, [node]);
      else list.push(node);
    }
  }
  const constants = new Map(graph.constants.map((one) => [one.name, one]));
  const results = new Set(graph.results);
  return {
    maker: (name) => makers.get(name),
    users: (name) => users.get(name) ?? [],
    constant: (name) => constants.get(name),
    isResult: (name) => results.has(name),
  };
}

type Chain = { input: string; weights: string; scale: string; zero: string; bias: string | null; end: Node };

/** What belongs to an integer convolution; `null` if anything is not as the quantiser writes it. */
function chainOf(conv: Node, find: Index): Chain | null {
  const [input = '', weights = '', inputZero = '', zero = ''] = conv.inputs;
  const quantised = find.maker(input);
  if (quantised?.kind !== 'DynamicQuantizeLinear' || quantised.outputs[0] !== input || quantised.outputs[2] !== inputZero) return null;
  const weightType = find.constant(weights)?.type;
  const isByte = weightType === elementUint8 || weightType === elementInt8;
  if (!isByte || find.constant(zero)?.type !== weightType || !isSingle(find.constant(zero))) return null;

  let at = onlyUser(conv, find);
  let bias: string | null = null;
  if (at?.kind === 'Add') {
    bias = floatBiasOf(otherInput(at, conv.outputs[0]), find);
    if (bias === null) return null;
    at = onlyUser(at, find);
  }
  if (at?.kind !== 'Cast') return null;
  const cast = at;
  const end = onlyUser(cast, find);
  if (end?.kind !== 'Mul') return null;
  const scale = weightScaleOf(otherInput(end, cast.outputs[0]), quantised.outputs[1], find);
  const plainInput = quantised.inputs[0];
  if (scale === null || plainInput === undefined) return null;
  return { input: plainInput, weights, scale, zero, bias, end };
}

/** The one node that uses the one output; none if the model gives that output away as well. */
function onlyUser(node: Node, find: Index): Node | undefined {
  const name = node.outputs[0] ?? '';
  const users = find.users(name);
  return users.length === 1 && !find.isResult(name) ? users[0] : undefined;
}

function otherInput(node: Node, known: string | undefined): string {
  return node.inputs.find((name) => name !== known) ?? '';
}

/** The bias before it was made an integer: back through reshaping, casting and rounding to the division by its scale. */
function floatBiasOf(name: string, find: Index): string | null {
  const through = ['Reshape', 'Unsqueeze', 'Cast', 'Floor', 'Round'];
  let at = find.maker(name);
  for (let steps = 0; at !== undefined && through.includes(at.kind) && steps < 8; steps += 1) at = find.maker(at.inputs[0] ?? '');
  const bias = at?.kind === 'Div' ? (at.inputs[0] ?? '') : '';
  const found = find.constant(bias);
  return found?.type === elementFloat && found.dims.length === 1 ? bias : null;
}

/** The scale of the weights: the factor beside the input's own scale. */
function weightScaleOf(name: string, inputScale: string | undefined, find: Index): string | null {
  const product = find.maker(name);
  if (product?.kind !== 'Mul' || inputScale === undefined || !product.inputs.includes(inputScale)) return null;
  const scale = otherInput(product, inputScale);
  const found = find.constant(scale);
  return found?.type === elementFloat && isSingle(found) ? scale : null;
}

function isSingle(constant: Constant | undefined): boolean {
  return constant !== undefined && constant.dims.every((dim) => dim === 1);
}

function plain(kind: string, inputs: readonly string[], output: string): Node {
  return { name: output, kind, domain: '', inputs, outputs: [output], attributes: [] };
}

/** Nodes are in the order of work, so one pass from the end finds what still leads to a result. */
function withoutUnused(graph: Graph): Graph {
  const used = new Set(graph.results);
  const nodes: Node[] = [];
  for (const node of graph.nodes.toReversed()) {
    if (!node.outputs.some((name) => used.has(name))) continue;
    for (const name of node.inputs) used.add(name);
    nodes.push(node);
  }
  return { ...graph, nodes: nodes.reverse(), constants: graph.constants.filter((one) => used.has(one.name)) };
}
