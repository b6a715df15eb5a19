/** Small ONNX files made by hand: enough of protobuf to write what the quantiser writes, without any code of the product. */

const utf8 = new TextEncoder();

export function varint(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
  return [...out, rest];
}
export const bytesField = (number: number, body: readonly number[]): number[] => [
  ...varint(number * 8 + 2),
  ...varint(body.length),
  ...body,
];
export const textField = (number: number, text: string): number[] => bytesField(number, [...utf8.encode(text)]);
export const numberField = (number: number, value: number): number[] => [...varint(number * 8), ...varint(value)];

export type NodeSpec = { kind: string; in: readonly string[]; out: readonly string[]; attributes?: readonly (readonly number[])[] };

export const nodeBytes = ({ kind, in: inputs, out, attributes = [] }: NodeSpec): number[] => [
  ...inputs.flatMap((name) => textField(1, name)),
  ...out.flatMap((name) => textField(2, name)),
  ...textField(3, `${kind} of ${out[0] ?? ''}`),
  ...textField(4, kind),
  ...attributes.flatMap((body) => bytesField(5, body)),
];

const numberAttribute = (name: string, value: number) => [...textField(1, name), ...numberField(3, value), ...numberField(20, 2)];
const group = numberAttribute('group', 1);
const toFloat = numberAttribute('to', 1);
const toInt32 = numberAttribute('to', 6);

export const elements = { float: 1, uint8: 2, int64: 7 } as const;

/** @param bytes  raw data; its content does not matter here. */
export const tensorBytes = (name: string, type: number, dims: readonly number[], bytes: readonly number[]): number[] => [
  ...dims.flatMap((dim) => numberField(1, dim)),
  ...numberField(2, type),
  ...textField(8, name),
  ...bytesField(9, bytes),
];

/** A float tensor of any shape. */
const valueInfo = (name: string) => [...textField(1, name), ...bytesField(2, bytesField(1, numberField(1, 1)))];

export type GraphSpec = {
  nodes: readonly NodeSpec[];
  constants: readonly (readonly [name: string, type: number, dims: readonly number[], bytes: readonly number[]])[];
  outputs?: readonly string[];
};

export function onnxBytes({ nodes, constants, outputs = ['y'] }: GraphSpec): Uint8Array {
  const graph = [
    ...nodes.flatMap((node) => bytesField(1, nodeBytes(node))),
    ...textField(2, 'small'),
    ...constants.flatMap((tensor) => bytesField(5, tensorBytes(...tensor))),
    ...bytesField(11, valueInfo('x')),
    ...outputs.flatMap((name) => bytesField(12, valueInfo(name))),
    ...bytesField(13, valueInfo('acc_f')),
  ];
  return Uint8Array.from([...numberField(1, 9), ...textField(2, 'hand'), ...bytesField(7, graph), ...bytesField(8, numberField(2, 20))]);
}

/** What the dynamic quantiser makes of one convolution: x → y, weights `w`, and a bias if asked for. */
export function quantisedConv({ bias = true, weights = 'w', input = 'x', output = 'y', tag = '' } = {}): NodeSpec[] {
  const at = (name: string) => `${name}${tag}`;
  const added = bias ? at('acc_bias') : at('acc');
  return [
    { kind: 'DynamicQuantizeLinear', in: [input], out: [at('x_q'), at('x_s'), at('x_z')] },
    { kind: 'Mul', in: [at('x_s'), `${weights}_s`], out: [at('scale')] },
    { kind: 'ConvInteger', in: [at('x_q'), weights, at('x_z'), `${weights}_z`], out: [at('acc')], attributes: [group] },
    ...(bias
      ? [
          { kind: 'Div', in: ['b', at('scale')], out: [at('b_div')] },
          { kind: 'Floor', in: [at('b_div')], out: [at('b_floor')] },
          { kind: 'Cast', in: [at('b_floor')], out: [at('b_q')], attributes: [toInt32] },
          { kind: 'Reshape', in: [at('b_q'), 'b_shape'], out: [at('b_r')] },
          { kind: 'Add', in: [at('acc'), at('b_r')], out: [added] },
        ]
      : []),
    { kind: 'Cast', in: [added], out: [at('acc_f')], attributes: [toFloat] },
    { kind: 'Mul', in: [at('acc_f'), at('scale')], out: [output] },
  ];
}

export const convConstants: GraphSpec['constants'] = [
  ['w', elements.uint8, [2, 2, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
  ['w_s', elements.float, [], [0, 0, 0, 61]],
  ['w_z', elements.uint8, [], [128]],
  ['b', elements.float, [2], [0, 0, 128, 63, 0, 0, 0, 64]],
  ['b_shape', elements.int64, [3], [1, 2, 1].flatMap((dim) => [dim, 0, 0, 0, 0, 0, 0, 0])],
];
