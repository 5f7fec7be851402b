import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createVocabulary } from './vocabulary.ts'

const FILES_OF_A_FOLDER = 12
const LINES = 80
const COMMITS = 30
const FILES_OF_A_COMMIT = 4
const MODIFIED = 20
const UNTRACKED = 10

/** A SYNTHETIC project in a git repository, with a history and uncommitted changes. */
export interface Project {
  root: string
  /** Relative to the root. */
  files: string[]
}

/** Creates the project in a new folder `root`. */
export function createProject(root: string, count: number): Project {
  const { word, pick } = createVocabulary(4)
  const folders = Array.from(
    { length: Math.ceil(count / FILES_OF_A_FOLDER) },
    () => `src/${word()}/${word()}/${word()}`,
  )
  const files = Array.from({ length: count }, (_, i) => `${folders[i % folders.length]}/${word()}-${i}.ts`)
  const source = () =>
    Array.from({ length: LINES }, () => `  const ${word()} = ${word()}(${word()}, ${word()})`).join('\n')

  function write(path: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), source())
  }

  function git(...args: string[]): void {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false']
    execFileSync('git', ['-C', root, ...identity, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  }

  for (const file of files) write(file)
  git('init', '-q')
  git('add', '-A')
  git('commit', '-q', '-m', 'All')
  for (let i = 0; i < COMMITS; i++) {
    for (let j = 0; j < FILES_OF_A_COMMIT; j++) write(pick(files))
    git('commit', '-q', '-a', '-m', `Change ${i}`)
  }
  for (let i = 0; i < MODIFIED; i++) write(pick(files))
  for (let i = 0; i < UNTRACKED; i++) write(`${pick(folders)}/new-${i}.ts`)
  return { root, files }
}
