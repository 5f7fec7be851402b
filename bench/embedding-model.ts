/** Environment variables that name the embedding model to measure. */
export const URL_VARIABLE = 'GAZEWAY_BENCH_EMBEDDINGS_URL'
export const MODEL_VARIABLE = 'GAZEWAY_BENCH_EMBEDDINGS_MODEL'

/** Tells whether the environment names a model. */
export const namesModel = (env: NodeJS.ProcessEnv): boolean => Boolean(env[URL_VARIABLE] && env[MODEL_VARIABLE])
