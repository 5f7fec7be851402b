#!/usr/bin/env node
import { collectForRequests } from './garbage-collection.ts'

// A tool server rests most of its time, and gives memory back as soon as it can.
if (process.argv.includes('--http') || process.argv.includes('--platform')) collectForRequests()
await import('./program.ts')
