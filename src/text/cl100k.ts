/** The tokenizer, in a module of our own: the build joins what such a part shares with the start of the tool server. */
export { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
