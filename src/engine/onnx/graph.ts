import {
  createWireReader,
  type Field,
  field,
  joined,
  notOnnx,
  type Range,
  type Source,
  sourceOf,
  textField,
  type WireReader,
} from './wire.ts';

/** A node of the graph. `attributes` are whole fields, as they stood in the file. */
export type Node = {
  readonly name: string;
  readonly kind: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: readonly Uint8Array[];
};

/** A constant of the graph: what it is, and where it lies in the file; its numbers are never read. */
export type Constant = { readonly name: string; readonly dims: readonly number[]; readonly type: number; readonly place: Range };

export type Graph = {
  readonly nodes: readonly Node[];
  readonly constants: readonly Constant[];
  /** Names that the model gives. */
  readonly results: readonly string[];
  /** Everything else of the graph, whole fields in their order: name, inputs, outputs. Notes on shapes in between are left out. */
  readonly rest: readonly Range[];
};

export type Model = {
  readonly graph: Graph;
  /** Whole fields of the model around the graph, in their order. */
  readonly before: readonly Range[];
  readonly after: readonly Range[];
};

/** What we take: the largest speech model has 4,000 nodes, none of them longer than a few hundred bytes. */
const most = { nodes: 50_000, nodeBytes: 64 * 1024, totalNodeBytes: 64 * 1024 * 1024, constants: 50_000, dims: 16, name: 1024 } as const;

// Numbers of the fields, from onnx.proto.
const inModel = { graph: 7 } as const;
const inGraph = { node: 1, initializer: 5, sparse: 15, output: 12, valueInfo: 13 } as const;
const inNode = { input: 1, output: 2, name: 3, kind: 4, attribute: 5, domain: 7 } as const;
const inTensor = { dims: 1, type: 2, name: 8 } as const;
const inAttribute = { graph: 6, graphs: 11 } as const;
const inValue = { name: 1 } as const;

/**
 * The graph of an ONNX file, without the numbers in it.
 *
 * @param range  where the model lies in the source.
 * @throws AppError MODEL_FILE_CORRUPT: no ONNX, cut off, or a form that we do not rewrite (a graph within a graph, sparse constants).
 * @source onnx.proto, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
 */
export function readModel(source: Source, range: Range): Model {
  const wire = createWireReader(source);
  const before: Range[] = [];
  const after: Range[] = [];
  let graph: Graph | null = null;
  for (const one of wire.fields(range)) {
    if (one.number === inModel.graph && one.type === 2) {
      if (graph !== null) throw notOnnx('two graphs');
      graph = readGraph(wire, one.body);
    } else (graph === null ? before : after).push(one.whole);
  }
  if (graph === null || graph.nodes.length === 0 || graph.results.length === 0) throw notOnnx('not an ONNX file');
  return { graph, before, after };
}

function readGraph(wire: WireReader, range: Range): Graph {
  const nodes: Node[] = [];
  const constants: Constant[] = [];
  const results: string[] = [];
  const rest: Range[] = [];
  let bytes = 0;
  for (const one of wire.fields(range)) {
    if (one.number === inGraph.node) {
      bytes += one.body.end - one.body.start;
      if (nodes.length >= most.nodes || bytes > most.totalNodeBytes) throw notOnnx('too many nodes');
      nodes.push(readNode(wire.bytes(one.body, most.nodeBytes)));
    } else if (one.number === inGraph.initializer) {
      if (constants.length >= most.constants) throw notOnnx('too many constants');
      constants.push(readConstant(wire, one));
    } else if (one.number === inGraph.sparse) throw notOnnx('sparse constants are not supported');
    else if (one.number !== inGraph.valueInfo) {
      if (one.number === inGraph.output) results.push(nameOf(wire, one.body));
      rest.push(one.whole);
    }
  }
  return { nodes, constants, results, rest };
}

function readConstant(wire: WireReader, { body, whole }: Field): Constant {
  const dims: number[] = [];
  let type = 0;
  let name = '';
  for (const one of wire.fields(body)) {
    if (one.number === inTensor.dims) dims.push(...numbersOf(wire, one));
    else if (one.number === inTensor.type && one.type === 0) type = wire.number(one);
    else if (one.number === inTensor.name) name = text(wire.bytes(one.body, most.name));
    if (dims.length > most.dims) throw notOnnx('too many dimensions');
  }
  return { name, dims, type, place: whole };
}

/** Repeated numbers come one by one or packed. */
function numbersOf(wire: WireReader, one: Field): number[] {
  if (one.type === 0) return [wire.number(one)];
  const packed = wire.bytes(one.body, most.dims * 10);
  const out: number[] = [];
  let value = 0;
  let shift = 0;
  for (const byte of packed) {
    value += (byte & 0x7f) * 2 ** shift;
    shift += 7;
    if (byte >= 0x80) continue;
    out.push(value);
    value = 0;
    shift = 0;
  }
  return out;
}

function readNode(bytes: Uint8Array): Node {
  const wire = createWireReader(sourceOf(bytes));
  const inputs: string[] = [];
  const outputs: string[] = [];
  const attributes: Uint8Array[] = [];
  const words = { name: '', kind: '', domain: '' };
  for (const one of wire.fields({ start: 0, end: bytes.length })) {
    const value = () => text(bytes.subarray(one.body.start, one.body.end));
    if (one.number === inNode.input) inputs.push(value());
    else if (one.number === inNode.output) outputs.push(value());
    else if (one.number === inNode.name) words.name = value();
    else if (one.number === inNode.kind) words.kind = value();
    else if (one.number === inNode.domain) words.domain = value();
    else if (one.number === inNode.attribute) {
      for (const part of wire.fields(one.body)) {
        if (part.number === inAttribute.graph || part.number === inAttribute.graphs)
          throw notOnnx('a graph within a graph is not supported');
      }
      attributes.push(bytes.slice(one.whole.start, one.whole.end));
    }
  }
  return { ...words, inputs, outputs, attributes };
}

function nameOf(wire: WireReader, range: Range): string {
  for (const one of wire.fields(range)) if (one.number === inValue.name) return text(wire.bytes(one.body, most.name));
  return '';
}

const decoder = new TextDecoder();
function text(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** A node as a field of the graph. */
export function nodeField(node: Node): Uint8Array {
  const body = [
    ...node.inputs.map((name) => textField(inNode.input, name)),
    ...node.outputs.map((name) => textField(inNode.output, name)),
    ...(node.name === '' ? [] : [textField(inNode.name, node.name)]),
    textField(inNode.kind, node.kind),
    ...node.attributes,
    ...(node.domain === '' ? [] : [textField(inNode.domain, node.domain)]),
  ];
  return field(inGraph.node, joined(body));
}

export const graphField = inModel.graph;
