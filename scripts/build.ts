import { rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { buildCommand } from './build-command.ts'
import { buildConsole } from './build-console.ts'
import { thirdPartyLicenses } from './third-party-licenses.ts'

/** Bundles the command into dist/ and the operator console into dist/console, and writes the licences of what is inside. */

rmSync('dist', { recursive: true, force: true })
const { outputs } = await buildCommand({ write: true })
const inCommand = Object.values(outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
)
const inConsole = await buildConsole(resolve('dist/console'))
writeFileSync('THIRD-PARTY-LICENSES', thirdPartyLicenses([...inCommand, ...inConsole]))
