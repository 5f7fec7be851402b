/** How far the focus reaches: its folder, and the folders right above and below that. */
const REACH = 2

/**
 * How far each file is from the focus: 0 is the focus itself, 1 the files of its folder (or in it, when it is a folder),
 * 2 those one folder up or down; null is further away. The tree distance of Furnas's fisheye views, cut off early.
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
