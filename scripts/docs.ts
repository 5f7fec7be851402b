import { generatedPages } from './docs/pages.ts'
import { writeGeneratedPages } from './docs/write-pages.ts'

/**
 * Brings the generated pages up to date with their sources. With --check it changes nothing and ends with 1 where a page
 * is behind.
 */

if (process.argv.includes('--check')) {
  const stale = generatedPages().filter(({ found, expected }) => found !== expected)
  for (const { file } of stale) console.error(`${file} is behind its sources: run npm run docs.`)
  if (stale.length > 0) process.exitCode = 1
} else for (const file of writeGeneratedPages()) console.log(`wrote ${file}`)
