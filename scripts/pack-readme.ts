import { readFileSync, writeFileSync } from 'node:fs'
import { absoluteLinks, relativeLinks } from './docs/absolute-links.ts'
import { setPackedModes } from './packed-modes.ts'

/**
 * Makes the links of README.md absolute while the package is packed (`prepack`), and relative again afterwards (`postpack`,
 * with --undo). docs/ is not in the package as files. Packed files get the same rights everywhere.
 */

const { repository } = JSON.parse(readFileSync('package.json', 'utf8'))
const address = repository.url.replace(/^git\+|\.git$/g, '')
const change = process.argv.includes('--undo') ? relativeLinks : absoluteLinks
writeFileSync('README.md', change(readFileSync('README.md', 'utf8'), address))
setPackedModes('.')
