/** A key as it is written on the key. */
export function Kbd({ keys }: { keys: string }) {
  return <kbd className="rounded-badge border border-line px-4 font-sans text-micro text-text-2">{keys}</kbd>;
}
