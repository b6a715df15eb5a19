export { VoicePicker } from './VoicePicker.tsx';
