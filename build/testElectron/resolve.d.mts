/** The Electron that this machine uses. */
export type FoundElectron = {
  readonly kind: 'real' | 'test';
  readonly version: string;
  readonly executable: string;
  /** Arguments that go before the app's path. */
  readonly flags: readonly string[];
  /** Start it with SOTTO_NODE: its own Node is too old for the runtime. */
  readonly needsNode: boolean;
  /** One sentence for people. */
  readonly reason: string;
};

export function resolveElectron(options?: { download?: boolean; log?: (line: string) => void }): Promise<FoundElectron>;
