import { deadLinks, pagesOf } from './docs/links.ts'
import { generatedPages } from './docs/pages.ts'
import { writeGeneratedPages } from './docs/write-pages.ts'

/**
 * Brings the generated pages up to date with their sources. With --check it changes nothing, and ends with 1 where a page
 * is behind or a link leads nowhere.
 */

if (process.argv.includes('--check')) {
  const faults = [...behind(), ...deadLinks('.', pagesOf('.'))]
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
} else for (const file of writeGeneratedPages()) console.log(`wrote ${file}`)

function behind(): string[] {
  const stale = generatedPages().filter(({ found, expected }) => found !== expected)
  return stale.map(({ file }) => `${file} is behind its sources: run npm run docs.`)
}
