export { ModelsPlace } from './ModelsPlace.tsx';
