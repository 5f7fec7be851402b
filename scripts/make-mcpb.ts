import { resolve } from 'node:path'
import { packBundle } from './mcpb/pack-bundle.ts'

/** Packs the built command into gazeway.mcpb, or the file that is named. */

const file = resolve(process.argv[2] ?? 'gazeway.mcpb')
packBundle(file)
console.log(`wrote ${file}`)
