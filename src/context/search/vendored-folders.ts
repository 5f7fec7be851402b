const BUILD = /^(?:configure(?:\.ac|\.in)?|makefile\.am|cmakelists\.txt|meson\.build)$/i
const LICENCE = /^(?:licen[cs]e|copying)(?:[.-][^/]*)?$/i

/**
 * Finds folders with a copy of another project, whatever they are called: they have build files and a licence of their own,
 * as the project itself has. Packages of JavaScript, Rust and Go have both within one project, and do not count.
 *
 * @param paths all files of a project
 * @returns the folders, each with a slash at its end
 */
export function vendoredFolders(paths: readonly string[]): string[] {
  const built = foldersWith(BUILD, paths)
  const licensed = foldersWith(LICENCE, paths)
  if (!built.has('') || !licensed.has('')) return []
  return [...built].filter((folder) => folder !== '' && licensed.has(folder))
}

function foldersWith(name: RegExp, paths: readonly string[]): Set<string> {
  const folders = paths.flatMap((path) => {
    const end = path.lastIndexOf('/') + 1
    return name.test(path.slice(end)) ? [path.slice(0, end)] : []
  })
  return new Set(folders)
}
