/** Greatest distance from the focus that counts: its folder, and the folders directly above and below. */
const REACH = 2

/**
 * Returns a function that measures the distance of a file from the focus. It is the tree distance of Furnas's fisheye
 * views ("Generalized fisheye views", CHI 1986), cut off at 2:
 *
 * - 0: the focus itself
 * - 1: the files of its folder, or in it when the focus is a folder
 * - 2: the files one folder up or down
 * - null: any other file
 *
 * @param focus relative to the root; '' is the root
 */
export function distanceTo(focus: string, isFile: boolean): (path: string) => number | null {
  const centre = isFile ? foldersOf(focus) : focus.split('/').filter(Boolean)

  return function distance(path) {
    if (path === focus) return 0
    const folders = foldersOf(path)
    let shared = 0
    while (shared < centre.length && centre[shared] === folders[shared]) shared++
    const hops = 1 + (centre.length - shared) + (folders.length - shared)
    return hops <= REACH ? hops : null
  }
}

function foldersOf(path: string): string[] {
  return path.split('/').slice(0, -1)
}
