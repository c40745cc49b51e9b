//! Model lists in the four shapes.

use super::*;
use crate::model::http::models::{Listing, ServerModel, list};
use expect_test::expect;

async fn listed(
    listing: Listing,
    base: &str,
    pages: &[Value],
) -> (Result<Vec<ServerModel>, String>, Vec<String>) {
    let answer = |page: &Value| open_answer("200 OK", "content-type: application/json\r\n", page.to_string());
    let server = fake_server(pages.iter().map(answer).collect()).await;
    let mut endpoint = Endpoint::new(Api::Chat, Some(&format!("{}{base}", server.base)));
    endpoint.key = Some(Secret::new("canary-key"));
    let models = list(&Transport::default(), &endpoint, listing).await;
    let asked =
        server.requests.lock().unwrap().iter().map(|text| text.lines().next().unwrap().to_owned()).collect();
    (models.map_err(|error| without_port(&error.to_string())), asked)
}

#[tokio::test]
async fn openai_relatives_say_their_limits_in_their_own_ways() {
    let page = json!({"object": "list", "data": [
        {"id": "plain", "created": 1, "owned_by": "x"},
        {"id": "llama", "meta": {"n_ctx": 16384}},
        {"id": "vllm", "max_model_len": 32768},
        {"id": "router", "name": "Router", "context_length": 200_000, "supported_parameters": ["tools"],
            "top_provider": {"max_completion_tokens": 8192}, "architecture": {"input_modalities": ["text", "image"]}},
        {"object": "no id"},
    ]});
    let (models, asked) = listed(Listing::OpenAi, "", &[page]).await;
    let model = |id: &str| ServerModel { id: id.into(), ..ServerModel::default() };
    assert_eq!(
        models,
        Ok(vec![
            model("plain"),
            ServerModel { context: Some(16384), ..model("llama") },
            ServerModel { context: Some(32768), ..model("vllm") },
            ServerModel {
                name: Some("Router".into()),
                context: Some(200_000),
                max_output: Some(8192),
                images: Some(true),
                tools: Some(true),
                thinking: Some(false),
                ..model("router")
            },
        ])
    );
    assert_eq!(asked, ["GET /v1/models HTTP/1.1"]);
}

#[tokio::test]
async fn pages_are_followed_to_the_last() {
    let entry = |id: &str| {
        json!({"id": id, "display_name": "D", "max_input_tokens": 200_000, "max_tokens": 64000,
            "capabilities": {"thinking": {"supported": true}, "image_input": {"supported": false}}})
    };
    let pages = [
        json!({"data": [entry("a")], "has_more": true, "last_id": "a"}),
        json!({"data": [entry("b")], "has_more": false, "last_id": "b"}),
    ];
    let (models, asked) = listed(Listing::Anthropic, "/v1", &pages).await;
    let ids: Vec<String> = models.unwrap().into_iter().map(|model| format!("{model:?}")).collect();
    expect![[r#"
        ServerModel { id: "a", name: Some("D"), context: Some(200000), max_output: Some(64000), images: Some(false), tools: None, thinking: Some(true) }
        ServerModel { id: "b", name: Some("D"), context: Some(200000), max_output: Some(64000), images: Some(false), tools: None, thinking: Some(true) }
        GET /v1/models?limit=1000 HTTP/1.1
        GET /v1/models?limit=1000&after_id=a HTTP/1.1"#]].assert_eq(&[ids, asked].concat().join("\n"));

    let pages = [
        json!({"models": [{"name": "models/g", "displayName": "G", "inputTokenLimit": 9, "outputTokenLimit": 3,
            "supportedGenerationMethods": ["generateContent"], "thinking": true}], "nextPageToken": "p 2"}),
        json!({"models": [{"name": "models/e", "supportedGenerationMethods": ["embedContent"]}]}),
    ];
    let (models, asked) = listed(Listing::Gemini, "", &pages).await;
    let ids: Vec<String> = models.unwrap().into_iter().map(|model| format!("{model:?}")).collect();
    expect![[r#"
        ServerModel { id: "g", name: Some("G"), context: Some(9), max_output: Some(3), images: None, tools: None, thinking: Some(true) }
        GET /v1beta/models?pageSize=1000 HTTP/1.1
        GET /v1beta/models?pageSize=1000&pageToken=p+2 HTTP/1.1"#]].assert_eq(&[ids, asked].concat().join("\n"));
}

#[tokio::test]
async fn ollama_is_asked_at_its_root() {
    let page = json!({"models": [{"name": "q:1b", "model": "q:1b", "capabilities": ["tools"]}]});
    let (models, asked) = listed(Listing::Ollama, "/v1", &[page]).await;
    let model = ServerModel {
        id: "q:1b".into(),
        name: Some("q:1b".into()),
        images: Some(false),
        tools: Some(true),
        thinking: Some(false),
        ..ServerModel::default()
    };
    assert_eq!((models, asked), (Ok(vec![model]), vec!["GET /api/tags HTTP/1.1".to_owned()]));
}

#[tokio::test]
async fn a_list_that_never_ends_ends() {
    let page = json!({"data": [{"id": "a"}], "has_more": true, "last_id": "a"});
    let (models, asked) = listed(Listing::Anthropic, "", &[page]).await;
    // The second page leads to itself.
    assert_eq!((models.unwrap().len(), asked.len()), (2, 2));
}

#[tokio::test]
async fn an_answer_that_is_no_list_says_so() {
    let (wrong, _) = listed(Listing::OpenAi, "", &[json!({"hello": "canary-key"})]).await;
    let server = fake_server(vec![open_answer("200 OK", "", "<html>hi</html>")]).await;
    let endpoint = Endpoint::new(Api::Chat, Some(&server.base));
    let page = list(&Transport::default(), &endpoint, Listing::OpenAi).await.unwrap_err();
    let said = format!("{}\n{}", wrong.unwrap_err(), without_port(&page.to_string()));
    expect![[r#"
        http://SERVER/v1/models lists no models; check the base address: {"hello":"[secret]"}
        http://SERVER/v1/models answered with no list of models; check the base address: <html>hi</html>"#]]
    .assert_eq(&said);
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_not_waited_for_long() {
    let server = fake_server(vec![vec![Act::Hang]]).await;
    let endpoint = Endpoint::new(Api::Chat, Some(&server.base));
    let said = list(&Transport::default(), &endpoint, Listing::OpenAi).await.unwrap_err();
    expect![[
        r#"Broken("http://SERVER/v1/models did not list its models within 5 s; check that the server runs")"#
    ]]
    .assert_eq(&without_port(&format!("{said:?}")));
}
