export { ChatPlace } from './ChatPlace.tsx';
export { stepMessage } from './Thread.tsx';
