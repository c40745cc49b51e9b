//! One request and one answer over a loopback connection: as much HTTP/1.1 as that takes.
//!
//! Every answer closes its connection, so that a cut is simply an answer without its end.

use super::MockRequest;
use serde_json::Value;
use std::io::{Error, ErrorKind, Result};
use std::num::NonZeroUsize;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// The most bytes of a request's head.
const LARGEST_HEAD: u64 = 64 << 10;
/// The most bytes of a request's body.
const LARGEST_BODY: usize = 64 << 20;

/// A request as it came.
pub(super) type HttpRequest = MockRequest;

/// A connection that carries one request and one answer.
pub(super) struct Exchange {
    connection: BufReader<TcpStream>,
    split: Option<NonZeroUsize>,
    begun: bool,
}

impl Exchange {
    pub(super) fn new(connection: TcpStream, split: Option<NonZeroUsize>) -> Self {
        Self { connection: BufReader::new(connection), split, begun: false }
    }

    /// Reads the request.
    ///
    /// # Errors
    /// `InvalidData` says what is wrong with it; other kinds mean that the connection is gone.
    pub(super) async fn request(&mut self) -> Result<HttpRequest> {
        self.connection.get_ref().set_nodelay(true)?;
        let mut head = Vec::new();
        let mut left = LARGEST_HEAD;
        loop {
            let mut line = Vec::new();
            let count = (&mut self.connection).take(left).read_until(b'\n', &mut line).await?;
            left -= count as u64;
            if count == 0 || left == 0 {
                return Err(if count == 0 && left > 0 {
                    ErrorKind::UnexpectedEof.into()
                } else {
                    wrong("the head of the request is too large")
                });
            }
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            if line.is_empty() {
                break;
            }
            head.push(line);
        }
        let first = head.first().cloned().unwrap_or_default();
        let mut words = first.split_whitespace().map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(wrong("this is no HTTP request"));
        };
        let pair = |line: &String| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers: Vec<(String, String)> = head.iter().skip(1).filter_map(pair).collect();
        let body = self.body(&headers).await?;
        Ok(HttpRequest { method, path, headers, body })
    }

    async fn body(&mut self, headers: &[(String, String)]) -> Result<Vec<u8>> {
        let header =
            |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        if header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let mut body = Vec::new();
        if header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            loop {
                let line = self.line().await?;
                let size = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16)
                    .map_err(|_| wrong("a chunk of the body has no size"))?;
                self.read(size, &mut body).await?;
                self.line().await?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        if let Some(length) = header("content-length") {
            let length = length.parse().map_err(|_| wrong("the length of the body is no number"))?;
            self.read(length, &mut body).await?;
        }
        Ok(body)
    }

    async fn line(&mut self) -> Result<String> {
        let mut line = Vec::new();
        (&mut self.connection).take(1024).read_until(b'\n', &mut line).await?;
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    async fn read(&mut self, size: usize, body: &mut Vec<u8>) -> Result<()> {
        if body.len().saturating_add(size) > LARGEST_BODY {
            return Err(wrong("the body is larger than 64 MiB"));
        }
        let start = body.len();
        body.resize(start + size, 0);
        self.connection.read_exact(&mut body[start..]).await.map(drop)
    }

    /// A whole answer in JSON.
    pub(super) async fn answer(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &Value,
    ) -> Result<()> {
        let body = body.to_string();
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{more}connection: \
             close\r\n\r\n",
            reqwest::StatusCode::from_u16(status)
                .ok()
                .and_then(|status| status.canonical_reason())
                .unwrap_or(""),
            body.len()
        );
        self.connection.write_all(head.as_bytes()).await?;
        self.connection.write_all(body.as_bytes()).await?;
        self.connection.shutdown().await
    }

    /// Whether bytes of a stream were sent.
    pub(super) fn is_begun(&self) -> bool {
        self.begun
    }

    /// The next bytes of a stream.
    pub(super) async fn send(&mut self, bytes: &str) -> Result<()> {
        if !self.begun {
            self.begun = true;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
                transfer-encoding: chunked\r\nconnection: close\r\n\r\n";
            self.connection.write_all(head.as_bytes()).await?;
        }
        let size = self.split.map_or(usize::MAX, NonZeroUsize::get);
        for part in bytes.as_bytes().chunks(size) {
            let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
            chunk.extend_from_slice(part);
            chunk.extend_from_slice(b"\r\n");
            self.connection.write_all(&chunk).await?;
        }
        self.connection.flush().await
    }

    /// The end of a stream; without it the stream is cut.
    pub(super) async fn end(&mut self) -> Result<()> {
        self.connection.write_all(b"0\r\n\r\n").await?;
        self.connection.shutdown().await
    }
}

fn wrong(why: &'static str) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}
