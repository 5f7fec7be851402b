import { config } from 'zod'

/**
 * Stops zod from compiling checks. zod compiles the check of an object at its first run. During a client's start, the
 * protocol's own schemas run so rarely that this costs more time than it saves.
 *
 * Schemas keep the setting in force at their creation. Import this file before the SDK, and call {@link compileChecks}
 * before the tools are loaded.
 */
config({ jitless: true })

/** Compiles the checks of all schemas that are created from now on. */
export const compileChecks = (): unknown => config({ jitless: false })
