import { resolve } from 'node:path'
import { writePlugin } from './plugin-folder.ts'

/** Writes the Claude Code plugin to `gazeway-plugin`, or the folder that is named. */

const folder = resolve(process.argv[2] ?? 'gazeway-plugin')
writePlugin(folder)
console.log(`wrote ${folder}`)
