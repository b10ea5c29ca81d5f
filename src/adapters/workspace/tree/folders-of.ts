/** The folders that contain a path, nearest first, without the root. */
export function* foldersOf(path: string): Generator<string> {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
    yield path.slice(0, cut);
}
