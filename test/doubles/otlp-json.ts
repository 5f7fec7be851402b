import { Ajv } from 'ajv'

/**
 * Schemas of OTLP's requests (opentelemetry-proto 1.x) in the JSON mapping of protobuf, with what OTLP changes of it: names in
 * lowerCamelCase, ids in hex, enums as integers, 64-bit integers as text, and no unknown field.
 */
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const list = (items: object) => ({ type: 'array', items })
const text = { type: 'string' }
const uint64 = { type: 'string', pattern: '^\\d{1,20}$' }
const uint32 = { type: 'integer', minimum: 0 }
const double = { anyOf: [{ type: 'number' }, { enum: ['NaN', 'Infinity', '-Infinity'] }] }
const anyValue = {
  $id: 'any',
  oneOf: [
    object({ stringValue: text }, ['stringValue']),
    object({ boolValue: { type: 'boolean' } }, ['boolValue']),
    object({ intValue: { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^-?\\d+$' }] } }, ['intValue']),
    object({ doubleValue: double }, ['doubleValue']),
    object({ arrayValue: object({ values: list({ $ref: 'any' }) }) }, ['arrayValue']),
    object({ kvlistValue: { type: 'object' } }, ['kvlistValue']),
  ],
}
const attributes = list(object({ key: { type: 'string', minLength: 1 }, value: { $ref: 'any' } }, ['key', 'value']))
const resource = object({ attributes, droppedAttributesCount: uint32 }, ['attributes'])
const scope = object({ name: text, version: text, attributes, droppedAttributesCount: uint32 }, ['name'])
const id = (bytes: number) => ({ type: 'string', pattern: `^[0-9a-fA-F]{${2 * bytes}}$` })

const common = { attributes, startTimeUnixNano: uint64, timeUnixNano: uint64, flags: uint32, exemplars: list({}) }
const numbers = list(
  object({ ...common, asDouble: double, asInt: { type: 'string', pattern: '^-?\\d+$' } }, [
    'attributes',
    'timeUnixNano',
  ]),
)
const histograms = list(
  object(
    {
      ...common,
      count: uint64,
      sum: double,
      min: double,
      max: double,
      bucketCounts: list(uint64),
      explicitBounds: list(double),
    },
    ['timeUnixNano', 'count', 'bucketCounts', 'explicitBounds'],
  ),
)
const temporality = { enum: [1, 2] }
const named = { name: { type: 'string', minLength: 1 }, description: text, unit: text }
const sum = object({ dataPoints: numbers, aggregationTemporality: temporality, isMonotonic: { type: 'boolean' } }, [
  'dataPoints',
  'aggregationTemporality',
])
const metric = {
  oneOf: [
    object({ ...named, sum }, ['name', 'sum']),
    object({ ...named, gauge: object({ dataPoints: numbers }, ['dataPoints']) }, ['name', 'gauge']),
    object(
      {
        ...named,
        histogram: object({ dataPoints: histograms, aggregationTemporality: temporality }, [
          'dataPoints',
          'aggregationTemporality',
        ]),
      },
      ['name', 'histogram'],
    ),
  ],
}
const link = object(
  { traceId: id(16), spanId: id(8), traceState: text, attributes, droppedAttributesCount: uint32, flags: uint32 },
  ['traceId', 'spanId'],
)
const event = object({ timeUnixNano: uint64, name: text, attributes, droppedAttributesCount: uint32 })
const span = object(
  {
    traceId: id(16),
    spanId: id(8),
    traceState: text,
    parentSpanId: id(8),
    flags: uint32,
    name: text,
    kind: { enum: [0, 1, 2, 3, 4, 5] },
    startTimeUnixNano: uint64,
    endTimeUnixNano: uint64,
    attributes,
    droppedAttributesCount: uint32,
    events: list(event),
    droppedEventsCount: uint32,
    links: list(link),
    droppedLinksCount: uint32,
    status: object({ message: text, code: { enum: [0, 1, 2] } }),
  },
  ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'],
)

const ajv = new Ajv({ schemas: [anyValue], strict: false })
const checks = {
  metrics: ajv.compile(
    object(
      {
        resourceMetrics: list(
          object({
            resource,
            schemaUrl: text,
            scopeMetrics: list(object({ scope, schemaUrl: text, metrics: list(metric) })),
          }),
        ),
      },
      ['resourceMetrics'],
    ),
  ),
  traces: ajv.compile(
    object(
      {
        resourceSpans: list(
          object({
            resource,
            schemaUrl: text,
            scopeSpans: list(object({ scope, schemaUrl: text, spans: list(span) })),
          }),
        ),
      },
      ['resourceSpans'],
    ),
  ),
}

/** Finds the fault of a request in JSON; null for a well-formed one. */
export function otlpFault(signal: keyof typeof checks, body: unknown): string | null {
  const check = checks[signal]
  if (!check(body)) return ajv.errorsText(check.errors)
  return signal === 'metrics' ? bucketFault(body as Points) : null
}

type Points = {
  resourceMetrics: {
    scopeMetrics: {
      metrics: {
        name: string
        histogram?: { dataPoints: { count: string; bucketCounts: string[]; explicitBounds: number[] }[] }
      }[]
    }[]
  }[]
}

/** A histogram has a bucket more than bounds, the bounds ascend, and its buckets sum up to its count. */
function bucketFault({ resourceMetrics }: Points): string | null {
  for (const { scopeMetrics } of resourceMetrics)
    for (const { metrics } of scopeMetrics)
      for (const { name, histogram } of metrics)
        for (const { count, bucketCounts, explicitBounds } of histogram?.dataPoints ?? []) {
          const sum = bucketCounts.reduce((all, one) => all + Number(one), 0)
          const ascend = explicitBounds.every((bound, at) => at === 0 || bound > Number(explicitBounds[at - 1]))
          if (bucketCounts.length !== explicitBounds.length + 1 || sum !== Number(count) || !ascend)
            return `buckets of ${name}`
        }
  return null
}
