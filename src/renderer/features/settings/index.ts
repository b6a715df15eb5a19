export { SettingsPlace } from './SettingsPlace.tsx';
