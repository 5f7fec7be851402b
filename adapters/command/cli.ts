#!/usr/bin/env node
import * as nodeModule from 'node:module'
import { compileCacheFolder } from './compile-cache.ts'

// The types are those of Node 20, which lacks this function.
const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown }
if (enableCompileCache) {
  const folder = await compileCacheFolder(process.argv.slice(2), process.env)
  if (folder !== null) enableCompileCache(folder)
}
await import('./program.ts')
