/** The folder structure of a list of files, the same for every call. */
export interface Layout {
  /** Position of each file in the tree's order. */
  places: ReadonlyMap<string, number>
  /** Files below each folder. */
  filesBelow: ReadonlyMap<string, number>
  /** Folders of the top level, in order of their names. */
  topFolders: readonly string[]
  /** Files of the top level, in the tree's order. */
  topFiles: readonly string[]
  /** Files of the top level that describe the project: README, manifest and such. */
  landmarks: readonly string[]
}

const LANDMARK =
  /^(readme|contributing|architecture)(\.\w+)?$|^(agents|claude)\.md$|^(package|composer|deno)\.json$|^(pyproject|cargo)\.toml$|^go\.mod$|^pom\.xml$|^build\.gradle(\.kts)?$|^gemfile$|^makefile$|^dockerfile$/i

const layouts = new WeakMap<readonly string[], Layout>()

/** Returns the layout of a list of files. Computed once per list; do not change the list afterwards. */
export function layoutOf(files: readonly string[]): Layout {
  const known = layouts.get(files)
  if (known) return known
  const filesBelow = countBelow(files)
  const topFiles = files.filter((path) => !path.includes('/'))
  const made: Layout = {
    places: new Map(files.map((path, place) => [path, place])),
    filesBelow,
    topFolders: [...filesBelow.keys()].filter((path) => !path.includes('/')).sort(),
    topFiles,
    landmarks: topFiles.filter((path) => LANDMARK.test(path)),
  }
  layouts.set(files, made)
  return made
}

function countBelow(files: readonly string[]): Map<string, number> {
  const inside = new Map<string, number>()
  for (const path of files) {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    inside.set(folder, (inside.get(folder) ?? 0) + 1)
  }
  const below = new Map<string, number>()
  for (const [folder, count] of inside)
    for (const path of foldersTo(folder)) below.set(path, (below.get(path) ?? 0) + count)
  return below
}

/** Yields a folder and the folders that contain it, innermost first, without the root. */
function* foldersTo(folder: string): Generator<string> {
  for (let path = folder; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('/')))) yield path
}
