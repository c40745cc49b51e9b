//! The providers that need no configuration. Their order is the order in which `auto` looks for a key.

/// Where a provider's server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Elsewhere; it wants a key.
    Remote,
    /// On a machine of the user; a key is sent only if one is given.
    Local,
}

/// A provider that is built in.
#[derive(Debug)]
pub struct BuiltIn {
    /// What stands before the slash of a model's id.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// The wire format, as the engine names it.
    pub family: &'static str,
    /// The base address.
    pub base: &'static str,
    /// The variables that may hold its key, the usual one first.
    pub variables: &'static [&'static str],
    /// Where its server is.
    pub place: Place,
}

const fn remote(
    name: &'static str,
    title: &'static str,
    family: &'static str,
    base: &'static str,
    variables: &'static [&'static str],
) -> BuiltIn {
    BuiltIn { name, title, family, base, variables, place: Place::Remote }
}

const fn local(name: &'static str, title: &'static str, base: &'static str) -> BuiltIn {
    BuiltIn { name, title, family: "chat", base, variables: &[], place: Place::Local }
}

/// All of them.
pub const BUILT_IN: [BuiltIn; 12] = [
    remote("anthropic", "Anthropic", "messages", "https://api.anthropic.com", &["ANTHROPIC_API_KEY"]),
    remote("openai", "OpenAI", "responses", "https://api.openai.com/v1", &["OPENAI_API_KEY"]),
    remote(
        "gemini",
        "Gemini",
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta",
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ),
    remote("openrouter", "OpenRouter", "chat", "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"]),
    remote("mistral", "Mistral", "chat-mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    remote("deepseek", "DeepSeek", "chat-deepseek", "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"]),
    remote("groq", "Groq", "chat", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    remote("xai", "xAI", "chat", "https://api.x.ai/v1", &["XAI_API_KEY"]),
    local("ollama", "Ollama", "http://127.0.0.1:11434"),
    local("lmstudio", "LM Studio", "http://127.0.0.1:1234"),
    local("llamacpp", "llama.cpp", "http://127.0.0.1:8080"),
    local("vllm", "vLLM", "http://127.0.0.1:8000"),
];
