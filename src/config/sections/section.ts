import * as z from 'zod'

/**
 * Defines a section of the configuration: an object without unknown fields, each with a default. Its schema is built on
 * the first call: a start needs those of few sections, and building all takes longer than reading the configuration.
 *
 * @param restart true when its settings take effect at the next start, except those with `restart` of their own
 */
export function section<Shape extends z.ZodRawShape>(fields: () => Shape, { restart = false } = {}) {
  return lazySchema(() => {
    const schema = z.strictObject(fields())
    const complete = schema.prefault({} as z.input<typeof schema>)
    return restart ? complete.meta({ restart }) : complete
  })
}

/** Defers building a schema to the first call. */
export function lazySchema<S extends z.ZodType>(build: () => S): () => S {
  let built: S | undefined
  return () => {
    built ??= build()
    return built
  }
}
