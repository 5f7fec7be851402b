import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSite } from './site/build-site.ts'

/**
 * Builds the site of the documentation from docs/: `npm run docs:site`. It ends with 1 where a link leads nowhere.
 *
 * --out DIR  the folder of the site, `site` by default
 */
const { values } = parseArgs({ options: { out: { type: 'string', default: 'site' } } })
const out = resolve(values.out)
const faults = await buildSite(out)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else console.log(`wrote the site to ${out}`)
