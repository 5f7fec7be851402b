import { config } from 'zod'

/**
 * Lets zod check without compiling. It compiles the check of an object with its first run, which takes longer than the few
 * runs that the protocol's own schemas see while a client starts. Schemas keep what holds when they are made, so this is
 * imported before the SDK, and {@link compileChecks} is called before the tools are.
 */
config({ jitless: true })

/** Compiles the checks of schemas that are made from now on. */
export const compileChecks = (): unknown => config({ jitless: false })
