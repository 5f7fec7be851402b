/** Endpoint → `gen_ai.operation.name`. Other endpoints run no model. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'chat',
  '/v1/messages': 'chat',
  '/v1/generateContent': 'generate_content',
  '/v1/completions': 'text_completion',
  '/v1/embeddings': 'embeddings',
  '/v1/embedContent': 'embeddings',
}

/** Names of known providers in the conventions that differ from Gazeway's. */
const PROVIDERS: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
}

/** Operation of a path by OpenTelemetry's conventions for generative AI; undefined where no model runs. */
export const operationOf = (path: string): string | undefined => OPERATIONS[path]

/** Name of a known provider in the conventions. */
export const conventionalProvider = (vendor: string): string => PROVIDERS[vendor] ?? vendor
