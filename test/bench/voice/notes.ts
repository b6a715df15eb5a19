/** One figure of one round. */
export type Notes = (key: string, value: number) => void;
