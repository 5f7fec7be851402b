#!/usr/bin/env node
import * as nodeModule from 'node:module'
import { compileCacheFolder } from './compile-cache.ts'

// The types are those of Node 20, which lacks this function.
const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown }
if (enableCompileCache) {
  const folder = compileCacheFolder(process.argv.slice(2), process.env)
  if (folder !== null) enableCompileCache(folder)
}
try {
  await import('./main.ts')
} catch (error) {
  // Here no message of another file can be read, either.
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'EMFILE' && code !== 'ENFILE') throw error
  process.stderr.write(
    'gazeway: No file descriptor was left to start. Raise the limit of open files (ulimit -n 1024).\n',
  )
  process.exitCode = 1
}
