import type { Pointer } from './handle.ts';
import { type KoffiLibrary, type KoffiType, koffi } from './koffi.ts';

/** The words of a signature table and what JavaScript passes for them. `buffer` is memory that lives at least as long as the call. */
type Words = {
  void: void;
  bool: boolean;
  i32: number;
  u32: number;
  f32: number;
  /** 64-bit sizes: koffi gives a BigInt above 2⁵³ only. */
  u64: number | bigint;
  size: number | bigint;
  /** NUL-terminated UTF-8 both ways; null is NULL. */
  text: string | null;
  buffer: Uint8Array | Int32Array | Float32Array | null;
  pointer: Pointer | null;
};

const koffiWords: Readonly<Record<keyof Words, string>> = {
  void: 'void',
  bool: 'bool',
  i32: 'int32',
  u32: 'uint32',
  f32: 'float',
  u64: 'uint64',
  size: 'size_t',
  text: 'str',
  buffer: 'void *',
  pointer: 'void *',
};

/**
 * One C function as data. `mode` is the threading rule (ABI-01): `sync` for calls under a millisecond and for the decode loop, which
 * runs in a thread of its own; `async` for the rest. `optional` functions may be missing (ABI-03).
 */
export type Signature = {
  readonly library: string;
  readonly mode: 'sync' | 'async';
  readonly optional?: true;
  readonly result: string;
  readonly args: readonly string[];
};

/** Fields of a C struct in order, by the same words. */
export type StructFields = Readonly<Record<string, keyof Words>>;

type Fields<F extends StructFields> = { -readonly [K in keyof F]: Words[F[K]] };
type Value<Name, Structs extends Readonly<Record<string, StructFields>>> = Name extends keyof Words
  ? Words[Name]
  : Name extends keyof Structs
    ? Fields<Structs[Name]>
    : never;
type Args<Names extends readonly string[], Structs extends Readonly<Record<string, StructFields>>> = {
  [I in keyof Names]: Value<Names[I], Structs>;
};
type Call<S extends Signature, Structs extends Readonly<Record<string, StructFields>>> = (
  ...args: Args<S['args'], Structs>
) => S['mode'] extends 'async' ? Promise<Value<S['result'], Structs>> : Value<S['result'], Structs>;

/** The JavaScript side of a signature table. */
export type Bound<Table extends Readonly<Record<string, Signature>>, Structs extends Readonly<Record<string, StructFields>>> = {
  readonly [K in keyof Table]: Table[K] extends { optional: true } ? Call<Table[K], Structs> | undefined : Call<Table[K], Structs>;
};

/**
 * Binds every function of a table. Nothing is called.
 *
 * @param libraries  loaded libraries by the name that the signatures use.
 * @returns `bound` and the names of functions that are neither there nor optional; the caller turns those into NATIVE_ABI_MISMATCH.
 */
export function bind<Table extends Readonly<Record<string, Signature>>, Structs extends Readonly<Record<string, StructFields>>>(
  libraries: Readonly<Record<string, KoffiLibrary>>,
  table: Table,
  structs: Structs,
): { bound: Bound<Table, Structs>; missing: string[] } {
  const types = new Map<string, string | KoffiType>(Object.entries(koffiWords));
  for (const [name, fields] of Object.entries(structs)) {
    // Without a name: koffi's type names are global per process, and a second binding would clash.
    types.set(name, koffi().struct(Object.fromEntries(Object.entries(fields).map(([field, word]) => [field, koffiWords[word]]))));
  }
  const typeOf = (name: string) => {
    const type = types.get(name);
    if (type === undefined) throw new Error(`signature table names an unknown type: ${name}`);
    return type;
  };
  const bound: Record<string, unknown> = {};
  const missing: string[] = [];
  for (const [name, signature] of Object.entries(table)) {
    const library = libraries[signature.library];
    if (library === undefined) throw new Error(`signature table names an unknown library: ${signature.library}`);
    if (!hasSymbol(library, name)) {
      if (signature.optional !== true) missing.push(name);
      continue;
    }
    const call = library.func(name, typeOf(signature.result), signature.args.map(typeOf));
    bound[name] = signature.mode === 'sync' ? call : (...args: unknown[]) => callAsync(call, args);
  }
  return { bound: bound as Bound<Table, Structs>, missing };
}

/** Whether a loaded library exports a name. */
export function hasSymbol(library: KoffiLibrary, name: string): boolean {
  try {
    return library.symbol(name) !== null;
  } catch {
    return false;
  }
}

/** Calls on koffi's thread pool. The arguments stay referenced by the closure until the answer (ABI-04). */
function callAsync(call: ReturnType<KoffiLibrary['func']>, args: readonly unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    call.async(...args, (error: unknown, result: unknown) => {
      if (error === null || error === undefined) resolve(result);
      else reject(error instanceof Error ? error : new Error('native call failed'));
      return args.length;
    });
  });
}
