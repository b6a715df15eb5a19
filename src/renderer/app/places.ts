import { Boxes, type LucideIcon, MessageSquare, Settings } from 'lucide-react';
import type { Place } from '../lib/ui.ts';

/** The places that are built, in the order of the map (UX-12). What is not built is not here: no dead link, no "soon". */
export const places: readonly { readonly id: Place; readonly icon: LucideIcon; readonly key: string; readonly group: number }[] = [
  { id: 'chat', icon: MessageSquare, key: '1', group: 0 },
  { id: 'models', icon: Boxes, key: '5', group: 1 },
  { id: 'settings', icon: Settings, key: ',', group: 2 },
];
