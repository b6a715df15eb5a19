import * as library from '@huggingface/jinja';

/** What we use of the renderer. Its own types import without file endings, which this module resolution cannot follow. */
export type Jinja = {
  readonly Template: new (source: string) => { readonly parsed: object };
  readonly Environment: new () => JinjaEnvironment;
  readonly Interpreter: new (environment: JinjaEnvironment) => { run(program: object): { readonly value: unknown } };
};
export type JinjaEnvironment = { set(name: string, value: unknown): unknown };

function isJinja(value: unknown): value is Jinja {
  const names = ['Template', 'Environment', 'Interpreter'];
  return typeof value === 'object' && value !== null && names.every((name) => typeof Reflect.get(value, name) === 'function');
}

function checked(value: unknown): Jinja {
  if (!isJinja(value)) throw new Error('@huggingface/jinja has another shape than 0.5');
  return value;
}

export const jinja = checked(library);
