/** Text from outside inside of a tag of the runner's. */

/** Breaks every closing tag of the same name, however it is spelled, so that data cannot pretend to end. */
export function asData(tag: string, text: string): string {
  return text.replace(new RegExp(`<(?=[\\s\\p{Cf}]*/[\\s\\p{Cf}]*${tag})`, 'giu'), '<\\');
}
