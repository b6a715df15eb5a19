/** As much of a parsed text as is looked at here. Offsets are UTF-16 units of the written answer. */
type Node = {
  type: string;
  tagName?: string;
  value?: string;
  properties?: { className?: string[] };
  children?: Node[];
  position?: { start: { offset?: number }; end: { offset?: number } };
};

/** Not read aloud in any case, and drawn from their bare text. */
const asTheyAre: readonly string[] = ['pre', 'code', 'img'];

/**
 * A step of the parser that marks what was not heard of a spoken answer (UX-43): text from there on lies in `span.unheard`.
 *
 * @param from  UTF-16 units of the answer that were heard.
 */
export function markUnheard({ from }: { from: number }) {
  const grey = (node: Node): Node => ({ type: 'element', tagName: 'span', properties: { className: ['unheard'] }, children: [node] });
  const marked = (node: Node): Node[] => {
    const { start, end } = node.position ?? { start: {}, end: {} };
    if (node.type === 'text' && node.value !== undefined && start.offset !== undefined && end.offset !== undefined) {
      if (end.offset <= from || node.value.trim() === '') return [node];
      if (start.offset >= from) return [grey(node)];
      const cut = from - start.offset;
      return [{ type: 'text', value: node.value.slice(0, cut) }, grey({ type: 'text', value: node.value.slice(cut) })];
    }
    if (node.children !== undefined && !asTheyAre.includes(node.tagName ?? '')) node.children = node.children.flatMap(marked);
    return [node];
  };
  return (tree: Node): void => void marked(tree);
}
