/** Files that a tool writes: locks of package managers, and what is generated from other files. */
export const FILE_KINDS = ['lock', 'generated'] as const
type FileKind = (typeof FILE_KINDS)[number]

/** Names of lock files, in lower case. */
const LOCKS = new Set([
  'bun.lock',
  'bun.lockb',
  'cargo.lock',
  'composer.lock',
  'deno.lock',
  'flake.lock',
  'gemfile.lock',
  'go.sum',
  'gradle.lockfile',
  'mix.lock',
  'npm-shrinkwrap.json',
  'package-lock.json',
  'package.resolved',
  'packages.lock.json',
  'pdm.lock',
  'pipfile.lock',
  'pnpm-lock.yaml',
  'podfile.lock',
  'poetry.lock',
  'pubspec.lock',
  'uv.lock',
  'yarn.lock',
])

/** Ends of the names of files that tools generate. */
const GENERATED =
  /(\.min\.(js|css|mjs)|\.(js|css|mjs)\.map|\.snap|_pb2(_grpc)?\.pyi?|\.pb\.(go|cc|h)|\.g\.dart|\.designer\.cs)$/

/**
 * Tells lock files and generated ones from those that people write, by the name alone: a file that says so of itself could
 * hide what it is. It lowers no demand.
 *
 * @returns null for a file that people write
 */
export function fileKindOf(path: string): FileKind | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (LOCKS.has(name)) return 'lock'
  return GENERATED.test(name) ? 'generated' : null
}
