import { readFileSync } from 'node:fs'

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

/** Files that name the version of a release, each with the versions in it. */
const NAMED: Record<string, () => string[]> = {
  'package-lock.json': () => {
    const { version, packages } = readJson('package-lock.json')
    return [version, packages[''].version]
  },
  'server.json': () => {
    const { version, packages } = readJson('server.json')
    return [version, ...packages.map((one: { version: string }) => one.version)]
  },
  'deploy/helm/gazeway/Chart.yaml': () =>
    [...readFileSync('deploy/helm/gazeway/Chart.yaml', 'utf8').matchAll(/^(?:version|appVersion): (.*)$/gm)].map(
      ([, version]) => version ?? '',
    ),
  'plugin/plugin.json': () => [readJson('plugin/plugin.json').version],
  'plugin/.claude-plugin/plugin.json': () => [readJson('plugin/.claude-plugin/plugin.json').version],
}

/** Version of a release: that of package.json. @throws Error when the tag or another file names another one */
export function agreedVersion(tag: string | undefined): string {
  const { version } = readJson('package.json')
  const faults = Object.entries(NAMED).flatMap(([file, read]) =>
    read().flatMap((found) => (found === version ? [] : [`${file} says ${found}`])),
  )
  if (tag !== undefined && tag !== `v${version}`) faults.push(`the tag is ${tag}, and should be v${version}`)
  if (faults.length === 0) return version
  throw new Error(`package.json says ${version}, but ${faults.join('; ')}. "npm run release:version" sets them all.`)
}

/**
 * Reads the notes of a version: its section of the changelog.
 *
 * @throws Error when the changelog has none, or an empty one
 */
export function notesOf(version: string, changelog: string): string {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.split('\n', 1)[0]?.trim() === version)
  const notes = section?.slice(section.indexOf('\n')).trim()
  if (notes) return `${notes}\n`
  throw new Error(`CHANGELOG.md has no notes of ${version}. "npm run release:version" writes them from .changeset/.`)
}
