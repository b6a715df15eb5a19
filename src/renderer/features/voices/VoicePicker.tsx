import { useUi } from '../../lib/ui.ts';
import { PickerSheet } from './PickerSheet.tsx';

/** Who speaks, and how fast (UX-179, UX-180): opened from Settings and from the voice bar. Nothing of it lives while it is closed. */
export function VoicePicker() {
  const isOpen = useUi((s) => s.voicePicker);
  return isOpen ? <PickerSheet onClose={() => useUi.getState().set({ voicePicker: false })} /> : null;
}
