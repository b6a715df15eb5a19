export { VoiceBar } from './VoiceBar.tsx';
