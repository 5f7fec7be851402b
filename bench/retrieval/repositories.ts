import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../folder.ts'

const QUESTIONS = 'bench/retrieval/'

const FROM_NPM = 'npm:'
/** Folders of npm packages that hold what was built from the source beside them, as do those with source maps. */
const BUILT = ['_cjs', '_esm', '_types']

/**
 * Fetches source packages of Debian 12 with `apt-get source`, as their authors released them, and packages of npm with `npm
 * pack`, and unpacks each into a folder. Debian's lists of packages are kept in a folder of their own: nothing of the system
 * changes.
 *
 * @returns the folders, in the order of the names; null is a copy of this project
 * @throws where apt-get, dpkg-source or npm fails, with what they said
 */
export function fetchRepositories(names: ReadonlyArray<string | null>): string[] {
  const place = temporaryFolder('repositories')
  const apt = packageLists(place)
  return names.map((name, i) => {
    const folder = join(place, `repository${i}`)
    if (name === null) return copyOfThis(folder)
    return name.startsWith(FROM_NPM)
      ? fetchPackage(folder, name.slice(FROM_NPM.length))
      : fetchSource(folder, name, apt)
  })
}

/** @param version `NAME@VERSION` */
function fetchPackage(folder: string, version: string): string {
  mkdirSync(folder)
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const file = run('npm', 'pack', '--silent', version).trim()
  run('tar', '-xzf', file)
  // npm itself packs everything below "package".
  const files = join(folder, 'package')
  const mapped = readdirSync(files).filter((name) => existsSync(join(files, name, 'index.js.map')))
  for (const built of [...BUILT, ...mapped]) rmSync(join(files, built), { recursive: true, force: true })
  return files
}

function packageLists(place: string): (folder: string, ...args: string[]) => void {
  const sources = join(place, 'sources')
  for (const folder of [sources, join(place, 'lists', 'partial'), join(place, 'cache', 'archives', 'partial')])
    mkdirSync(folder, { recursive: true })
  const entry =
    'Types: deb-src\nURIs: http://deb.debian.org/debian\nSuites: bookworm\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n'
  writeFileSync(join(sources, 'debian.sources'), entry)
  const options = {
    'Dir::Etc::SourceList': '/dev/null',
    'Dir::Etc::SourceParts': sources,
    'Dir::State::Lists': join(place, 'lists'),
    'Dir::Cache': join(place, 'cache'),
    'APT::Sandbox::User': 'root',
  }
  const given = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const run = (cwd: string, ...args: string[]) => {
    execFileSync('apt-get', ['-q', ...given, ...args], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  }
  run(place, 'update')
  return run
}

function fetchSource(folder: string, name: string, apt: (cwd: string, ...args: string[]) => void): string {
  mkdirSync(folder)
  apt(folder, 'source', '--download-only', name)
  const description = readdirSync(folder).find((file) => file.endsWith('.dsc'))
  if (description === undefined) throw new Error(`apt-get fetched no source of ${name}.`)
  const files = join(folder, 'files')
  execFileSync('dpkg-source', ['--no-check', '--skip-patches', '-x', description, files], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // What Debian adds is not of the project.
  rmSync(join(files, 'debian'), { recursive: true, force: true })
  return files
}

/** Copies this project's tracked files, without the questions about it. */
function copyOfThis(folder: string): string {
  const listed = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean)
  for (const file of listed.filter((path) => !path.startsWith(QUESTIONS))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(file, join(folder, file))
  }
  return folder
}
