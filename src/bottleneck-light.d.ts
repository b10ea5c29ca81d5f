/** The part of bottleneck that needs no Redis; it ships without types. */
declare module 'bottleneck/light.js' {
  export { default } from 'bottleneck';
}
