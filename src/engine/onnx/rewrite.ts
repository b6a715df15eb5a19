import { floatConvolutions } from './floatConv.ts';
import { graphField, type Model, nodeField, readModel } from './graph.ts';
import { fieldHead, notOnnx, type Range, type Source } from './wire.ts';

/** A piece of a new file: bytes of ours, or a range of the old one. */
export type Piece = Uint8Array | Range;

/**
 * How an ONNX file looks with its integer convolutions as float ones: a list of pieces, most of them ranges of the old file, so that no
 * one has to hold its weights in memory. The same file gives the same pieces.
 *
 * @param range  where the model lies in the source.
 * @throws AppError MODEL_FILE_CORRUPT: no ONNX, damaged, or without a single integer convolution.
 */
export function floatModel(source: Source, range: Range): { pieces: readonly Piece[]; changed: number } {
  const model = readModel(source, range);
  const { graph, changed } = floatConvolutions(model.graph);
  if (changed === 0) throw notOnnx('nothing in it is as it should be');
  return { pieces: piecesOf({ ...model, graph }), changed };
}

function piecesOf({ before, after, graph }: Model): Piece[] {
  const inside: Piece[] = [...graph.nodes.map(nodeField), ...graph.rest, ...graph.constants.map((one) => one.place)];
  const length = inside.reduce((sum, piece) => sum + lengthOf(piece), 0);
  return [...before, fieldHead(graphField, length), ...inside, ...after];
}

export function lengthOf(piece: Piece): number {
  return piece instanceof Uint8Array ? piece.length : piece.end - piece.start;
}
