import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { untestedCommands } from './docs/commands.ts'
import { deadLinks, pagesOf } from './docs/links.ts'
import { generatedPages } from './docs/pages.ts'
import { replacedTerms } from './docs/terms.ts'
import { writeGeneratedPages } from './docs/write-pages.ts'

/**
 * Brings the generated pages up to date with their sources. With --check it changes nothing, and ends with 1 where a page
 * is behind, a link leads nowhere, no test runs commands that are shown, or a term is one that the glossary replaces.
 */

if (process.argv.includes('--check')) {
  const pages = pagesOf('.')
  const faults = [
    ...behind(),
    ...deadLinks('.', pages),
    ...untestedCommands('.', pages),
    ...replacedTerms('.', pages, sources()),
  ]
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
} else for (const file of writeGeneratedPages()) console.log(`wrote ${file}`)

function behind(): string[] {
  const stale = generatedPages().filter(({ found, expected }) => found !== expected)
  return stale.map(({ file }) => `${file} is behind its sources: run npm run docs.`)
}

function sources(): string[] {
  return ['src', 'tools', 'adapters'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join(folder, file)),
  )
}
