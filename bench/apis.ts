/** The APIs that a client can be measured with, and how it is told which. */

/** Whose API the server speaks. */
export type Family = 'claude' | 'responses' | 'chat' | 'gemini';

/** No key of anybody. */
export const BENCH_KEY = 'sk-ant-bench-0123456789';
export const GEMINI_MODEL = 'gemini-x';

/** One API, as a client is told of it. */
export interface Api {
  readonly family: Family;
  /** Flags behind the task. */
  flags(url: string): readonly string[];
  env(url: string): Readonly<Record<string, string>>;
}

export const CLAUDE: Api = {
  family: 'claude',
  flags: () => [],
  env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: BENCH_KEY }),
};

const openAi = (family: Family, path: string): Api => ({
  family,
  flags: (url) => ['--model', 'openai/gpt-5.4', '--base-url', `${url}${path}`],
  env: () => ({ OPENAI_API_KEY: BENCH_KEY }),
});

/** The others, by their names. */
export const OTHER_APIS: Readonly<Record<string, Api>> = {
  'OpenAI Responses': openAi('responses', '/responses'),
  'OpenAI Chat Completions': openAi('chat', '/chat/completions'),
  Gemini: {
    family: 'gemini',
    flags: (url) => ['--model', `gemini/${GEMINI_MODEL}`, '--base-url', url],
    env: () => ({ GEMINI_API_KEY: BENCH_KEY }),
  },
};
