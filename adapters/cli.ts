#!/usr/bin/env node
import { postponeFullCollection } from './full-collection.ts'

// A tool server rests most of its time, and gives memory back as soon as it can.
if (process.argv.includes('--http') || process.argv.includes('--platform')) postponeFullCollection()
await import('./program.ts')
