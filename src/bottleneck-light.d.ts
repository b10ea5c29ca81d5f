/** The part of bottleneck that needs no Redis; it comes without types of its own. */
declare module 'bottleneck/light.js' {
  export { default } from 'bottleneck';
}
