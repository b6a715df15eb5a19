/*
 * A small library with the names and layouts of llama.cpp v0.4.0 that Sotto's binding uses, for tests: it writes scripted pieces and
 * crashes, hangs, leaks and lies on request. Written from the signature table in native/llama/signatures.ts; no code of llama.cpp.
 *
 * Built three times: -DFAKE_BASE, -DFAKE_GGML, -DFAKE_LLAMA. Switches are read from `fake.conf` beside the library (KEY=VALUE lines, read
 * anew at each question, so that a test can change them between two lives of an engine) and from SOTTO_FAKE_KEY, which goes first:
 *
 *   CRASH_AT, HANG_AT, OOM_AT, NULL_AT   open | load | context | prefill | token:N | unload   (N counts from 1; HANG_AT=prefill hangs in the
 *                       first batch, CRASH_AT=token:N when the N-th token is evaluated or sampled)
 *   CRASH_HOW           segv (default) | abort | exit (with code 0)
 *   VERSION             text of llama_version
 *   WRONG_DEFAULTS      model | context: one byte of that struct differs
 *   PIECES              output, hex bytes per token, comma between: 454e,44. LOOP=1 repeats them for ever
 *   TOKEN_MS PREFILL_MS LOAD_MS   slow down: per token, per batch, per load
 *   LEAK_MB             resident megabytes lost at load;  TOKEN_LEAK_MB: at each token
 *   TEMPLATE            chat template as text without line breaks (\n is read as one); `none` = NULL
 *   TRAINED             trained context, default 8192;  NO_CUT=1: memory cannot be cut;  POS_MIN: first position in memory
 *   BAD_TOKEN=1         sample returns an id outside the vocabulary;  DECODE=code: what llama_decode returns
 *   NO_DECODER=1        a model that writes no text;  ARCHITECTURE
 *   DIAL=port           opens a TCP connection to 127.0.0.1 at load
 *   CALLS               file that gets one line per call: name and arguments
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- switches: in the base library, which is loaded first and for everyone ---- */

const char *fake_switch(const char *key);
long fake_number(const char *key, long otherwise);
void fake_called(const char *format, ...);
void fake_at(const char *place);
bool fake_is(const char *key, const char *place);
void fake_sleep(long ms);
typedef void (*log_callback)(int level, const char *text, void *data);
void fake_set_log(log_callback callback, void *data);
void fake_log(int level, const char *text);

#ifdef FAKE_BASE

const char *fake_switch(const char *key) {
    /* A ring, so that a few answers may be in use at once. */
    static char values[8][65536];
    static unsigned next;
    char *value = values[next++ % 8];
    char name[128];
    snprintf(name, sizeof name, "SOTTO_FAKE_%s", key);
    const char *env = getenv(name);
    if (env != NULL) return env;
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)fake_number, &info) == 0) return NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s", info.dli_fname);
    char *slash = strrchr(path, '/');
    if (slash == NULL) return NULL;
    snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "fake.conf");
    FILE *file = fopen(path, "r");
    if (file == NULL) return NULL;
    size_t length = strlen(key);
    char *found = NULL;
    while (found == NULL && fgets(value, sizeof values[0], file) != NULL) {
        if (strncmp(value, key, length) != 0 || value[length] != '=') continue;
        value[strcspn(value, "\n")] = 0;
        found = value + length + 1;
    }
    fclose(file);
    return found;
}

long fake_number(const char *key, long otherwise) {
    const char *value = fake_switch(key);
    return value == NULL ? otherwise : strtol(value, NULL, 10);
}

bool fake_is(const char *key, const char *place) {
    const char *value = fake_switch(key);
    return value != NULL && strcmp(value, place) == 0;
}

void fake_called(const char *format, ...) {
    const char *path = fake_switch("CALLS");
    if (path == NULL) return;
    FILE *file = fopen(path, "a");
    if (file == NULL) return;
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fputc('\n', file);
    fclose(file);
}

void fake_sleep(long ms) {
    struct timespec time = {ms / 1000, (ms % 1000) * 1000000L};
    nanosleep(&time, NULL);
}

static log_callback logger;
static void *logger_data;

void fake_set_log(log_callback callback, void *data) {
    logger = callback;
    logger_data = data;
}

void fake_log(int level, const char *text) {
    if (logger != NULL) logger(level, text, logger_data);
}

void fake_at(const char *place) {
    while (fake_is("HANG_AT", place)) fake_sleep(1000);
    if (!fake_is("CRASH_AT", place)) return;
    if (fake_is("CRASH_HOW", "abort")) abort();
    if (fake_is("CRASH_HOW", "exit")) _exit(0);
    *(volatile int *)8 = 1;
}

#endif

/* ---- ggml ---- */

#ifdef FAKE_GGML

void ggml_backend_load_all_from_path(const char *folder) {
    fake_called("ggml_backend_load_all_from_path");
    char line[4200];
    snprintf(line, sizeof line, "load_backend: loaded CPU backend from %s/libggml-cpu-fake.so\n", folder);
    fake_log(2, line);
}

size_t ggml_backend_dev_count(void) { return 1; }

#endif

/* ---- llama ---- */

#ifdef FAKE_LLAMA

struct model_params {
    void *devices, *overrides;
    int32_t n_gpu_layers, split_mode, load_mode, lazy_mode, main_gpu;
    void *tensor_split;
    bool (*progress)(float, void *);
    void *progress_data, *kv_overrides;
    bool vocab_only, check_tensors, use_extra_bufts, no_host, no_alloc, load_mtp;
};

struct context_params {
    uint32_t n_ctx, n_batch, n_ubatch, n_seq_max, n_rs_seq, n_outputs_max, n_outputs_max_per_seq;
    int32_t n_threads, n_threads_batch, ctx_type, rope, pooling, attention, flash;
    float rope_base, rope_scale, yarn_ext, yarn_attn, yarn_fast, yarn_slow;
    uint32_t yarn_orig;
    float defrag;
    void *cb_eval, *cb_data;
    int32_t type_k, type_v;
    bool (*abort)(void *);
    void *abort_data;
    bool embeddings, offload_kqv, no_perf, op_offload, swa_full, kv_unified;
    void *samplers;
    size_t n_samplers;
    void *other;
};

struct batch {
    int32_t n_tokens;
    int32_t *token;
    void *embd, *pos, *n_seq_id, *seq_id, *logits;
};

struct chain_params { bool no_perf; };

/* Bytes are their own tokens; control tokens and the scripted pieces come after them. */
enum { START = 256, END = 257, BOS = 258, PIECE = 300, PIECES = 60000, VOCABULARY = 60400 };

struct model { int vocab; bool vocab_only; };
struct context {
    struct context_params params;
    uint32_t used;
    int32_t *tokens;
    bool (*abort)(void *);
    void *abort_data;
    long written;
};

const char *llama_version(void) {
    const char *version = fake_switch("VERSION");
    return version == NULL ? "0.4.0-dev" : version;
}

struct model_params llama_model_default_params(void) {
    struct model_params p;
    memset(&p, 0, sizeof p);
    p.n_gpu_layers = -1;
    p.split_mode = 1;
    p.load_mode = -1;
    p.lazy_mode = fake_is("WRONG_DEFAULTS", "model") ? 7 : 1;
    p.use_extra_bufts = true;
    return p;
}

struct context_params llama_context_default_params(void) {
    struct context_params p;
    memset(&p, 0, sizeof p);
    p.n_ctx = 512;
    p.n_batch = 2048;
    p.n_ubatch = 512;
    p.n_seq_max = 1;
    p.n_outputs_max_per_seq = 1;
    p.n_threads = p.n_threads_batch = 4;
    p.rope = p.pooling = p.attention = p.flash = -1;
    p.yarn_ext = p.yarn_attn = p.yarn_fast = p.yarn_slow = p.defrag = -1;
    p.type_k = p.type_v = fake_is("WRONG_DEFAULTS", "context") ? 8 : 1;
    p.offload_kqv = p.no_perf = p.op_offload = p.swa_full = true;
    return p;
}

void llama_log_set(log_callback callback, void *data) { fake_set_log(callback, data); }

void llama_backend_init(void) {
    fake_called("llama_backend_init");
    fake_at("open");
}

static void leak(long megabytes) {
    for (long i = 0; i < megabytes; i++) {
        char *block = malloc(1 << 20);
        if (block != NULL) memset(block, 1, 1 << 20);
    }
}

static void dial(void) {
    long port = fake_number("DIAL", 0);
    if (port == 0) return;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0) {
        (void)!connect(fd, (struct sockaddr *)&to, sizeof to);
        close(fd);
    }
}

struct model *llama_model_load_from_file(const char *path, struct model_params params) {
    (void)path;
    fake_called("llama_model_load_from_file mode=%d", params.load_mode);
    fake_at("load");
    dial();
    leak(fake_number("LEAK_MB", 0));
    long ms = fake_number("LOAD_MS", 0);
    for (int i = 0; i <= 10; i++) {
        if (params.progress != NULL && !params.progress((float)i / 10, params.progress_data)) return NULL;
        fake_sleep(ms / 10);
    }
    if (fake_is("OOM_AT", "load")) {
        fake_log(4, "alloc_tensor_range: failed to allocate CPU buffer of size 123456789\n");
        return NULL;
    }
    if (fake_is("NULL_AT", "load")) {
        const char *said = fake_switch("ERROR");
        fake_log(4, said == NULL ? "llama_model_load: error loading model\n" : said);
        return NULL;
    }
    struct model *model = calloc(1, sizeof *model);
    model->vocab_only = params.vocab_only;
    return model;
}

void llama_model_free(struct model *model) {
    fake_called("llama_model_free");
    fake_at("unload");
    free(model);
}

static int32_t write_text(const char *text, char *buffer, size_t size) { return snprintf(buffer, size, "%s", text); }

const int *llama_model_get_vocab(const struct model *model) { return fake_is("NULL_AT", "vocab") ? NULL : &model->vocab; }
int32_t llama_model_n_ctx_train(const struct model *model) { (void)model; return (int32_t)fake_number("TRAINED", 8192); }
uint64_t llama_model_n_params(const struct model *model) { (void)model; return 42; }
bool llama_model_has_encoder(const struct model *model) { (void)model; return false; }
bool llama_model_has_decoder(const struct model *model) { (void)model; return fake_number("NO_DECODER", 0) == 0; }
bool llama_model_is_diffusion(const struct model *model) { (void)model; return false; }
int32_t llama_model_desc(const struct model *model, char *buffer, size_t size) { (void)model; return write_text("fake 42B", buffer, size); }

int32_t llama_model_meta_val_str(const struct model *model, const char *key, char *buffer, size_t size) {
    (void)model;
    if (strcmp(key, "general.architecture") != 0) return -1;
    const char *architecture = fake_switch("ARCHITECTURE");
    return write_text(architecture == NULL ? "fake" : architecture, buffer, size);
}

const char *llama_model_chat_template(const struct model *model, const char *name) {
    (void)model;
    (void)name;
    static char text[65536];
    const char *given = fake_switch("TEMPLATE");
    if (given == NULL) {
        given = "{% for m in messages %}{{ '<|im_start|>' + m.role + ' ' + m.content + '<|im_end|>' }}{% endfor %}"
                "{% if add_generation_prompt %}{{ '<|im_start|>assistant ' }}{% endif %}";
    }
    if (strcmp(given, "none") == 0) return NULL;
    size_t at = 0;
    for (const char *c = given; *c != 0 && at + 1 < sizeof text; c++) {
        if (c[0] == '\\' && c[1] == 'n') {
            text[at++] = '\n';
            c++;
        } else {
            text[at++] = *c;
        }
    }
    text[at] = 0;
    return text;
}

int32_t llama_vocab_n_tokens(const int *vocab) { (void)vocab; return VOCABULARY; }
bool llama_vocab_is_eog(const int *vocab, int32_t token) { (void)vocab; return token == END; }
bool llama_vocab_is_control(const int *vocab, int32_t token) { (void)vocab; return token >= START && token <= BOS; }
int32_t llama_vocab_bos(const int *vocab) { (void)vocab; return BOS; }
int32_t llama_vocab_eos(const int *vocab) { (void)vocab; return END; }
bool llama_vocab_get_add_bos(const int *vocab) { (void)vocab; return fake_number("ADD_BOS", 0) != 0; }

static const char *const control[] = {"<|im_start|>", "<|im_end|>", "<s>"};

const char *llama_vocab_get_text(const int *vocab, int32_t token) {
    (void)vocab;
    return token >= START && token <= BOS ? control[token - START] : "";
}

int32_t llama_tokenize(const int *vocab, const char *text, int32_t bytes, int32_t *tokens, int32_t room, bool add_special, bool parse_special) {
    (void)vocab;
    (void)add_special;
    int32_t count = 0;
    for (int32_t at = 0; at < bytes;) {
        int32_t token = (uint8_t)text[at];
        int32_t length = 1;
        for (int i = 0; parse_special && i < 3; i++) {
            int32_t spelled = (int32_t)strlen(control[i]);
            if (bytes - at < spelled || memcmp(text + at, control[i], (size_t)spelled) != 0) continue;
            token = START + i;
            length = spelled;
        }
        if (count < room) tokens[count] = token;
        count++;
        at += length;
    }
    return count > room ? -count : count;
}

/* The n-th scripted piece: its bytes, or -1 past the end. */
static int piece(long n, uint8_t *out, int room) {
    const char *script = fake_switch("PIECES");
    if (script == NULL) script = "48656c6c6f,20776f726c64,2e";
    long count = 1;
    for (const char *c = script; *c != 0; c++) count += *c == ',';
    if (fake_number("LOOP", 0) != 0) n %= count;
    if (n >= count) return -1;
    for (; n > 0; n--) script = strchr(script, ',') + 1;
    int length = 0;
    for (; script[0] != 0 && script[0] != ',' && length < room; script += 2) {
        char byte[3] = {script[0], script[1], 0};
        out[length++] = (uint8_t)strtol(byte, NULL, 16);
    }
    return length;
}

int32_t llama_token_to_piece(const int *vocab, int32_t token, char *buffer, int32_t room, int32_t lstrip, bool special) {
    (void)vocab;
    (void)lstrip;
    (void)special;
    uint8_t bytes[8192];
    int length = 0;
    if (token < START) bytes[length++] = (uint8_t)token;
    else if (token >= PIECE) length = piece(token - PIECE, bytes, sizeof bytes);
    if (length < 0) length = 0;
    if (length > room) return -length;
    memcpy(buffer, bytes, (size_t)length);
    return length;
}

struct context *llama_init_from_model(struct model *model, struct context_params params) {
    fake_called("llama_init_from_model n_ctx=%u n_batch=%u n_ubatch=%u threads=%d flash=%d outputs=%u", params.n_ctx, params.n_batch,
                params.n_ubatch, params.n_threads, params.flash, params.n_outputs_max);
    fake_at("context");
    if (model->vocab_only || fake_is("NULL_AT", "context")) return NULL;
    if (fake_is("OOM_AT", "context")) {
        fake_log(4, "llama_kv_cache: failed to allocate buffer for kv cache\n");
        return NULL;
    }
    struct context *context = calloc(1, sizeof *context);
    context->params = params;
    context->params.n_ctx = (params.n_ctx + 255) / 256 * 256;
    context->tokens = calloc(context->params.n_ctx, sizeof(int32_t));
    return context;
}

void llama_free(struct context *context) {
    fake_called("llama_free");
    free(context->tokens);
    free(context);
}

uint32_t llama_n_ctx(const struct context *context) { return context->params.n_ctx; }
uint32_t llama_n_batch(const struct context *context) { return context->params.n_batch; }
struct context *llama_get_memory(struct context *context) { return context; }
void llama_set_abort_callback(struct context *context, bool (*callback)(void *), void *data) {
    context->abort = callback;
    context->abort_data = data;
}

static void token_place(const char *key, long n) {
    char place[32];
    snprintf(place, sizeof place, "%s:%ld", key, n);
    fake_at(place);
}

int32_t llama_decode(struct context *context, struct batch batch) {
    /* What the real library would abort on must never reach it. */
    if (batch.n_tokens <= 0 || (uint32_t)batch.n_tokens > context->params.n_batch) {
        fake_called("llama_decode MISUSE %d", batch.n_tokens);
        abort();
    }
    int32_t first = batch.token[0];
    bool prefill = first < PIECE;
    fake_called("llama_decode %d at=%u abortable=%d %s", batch.n_tokens, context->used, context->abort != NULL, prefill ? "prefill" : "token");
    if (prefill) {
        context->written = 0;
        fake_at("prefill");
        /* Ten "graph nodes" per batch, at each of which the real library asks. */
        long ms = fake_number("PREFILL_MS", 0);
        for (int node = 0; node < 10; node++) {
            if (context->abort != NULL && context->abort(context->abort_data)) return 2;
            fake_sleep(ms / 10);
        }
    } else {
        token_place("token", context->written);
        leak(fake_number("TOKEN_LEAK_MB", 0));
        fake_sleep(fake_number("TOKEN_MS", 0));
    }
    long code = fake_number(prefill ? "DECODE_PREFILL" : "DECODE", 0);
    if (code != 0) return (int32_t)code;
    if (context->used + (uint32_t)batch.n_tokens > context->params.n_ctx) return 1;
    memcpy(context->tokens + context->used, batch.token, (size_t)batch.n_tokens * sizeof(int32_t));
    context->used += (uint32_t)batch.n_tokens;
    return 0;
}

void llama_memory_clear(struct context *memory, bool data) {
    (void)data;
    fake_called("llama_memory_clear");
    memory->used = 0;
}

bool llama_memory_seq_rm(struct context *memory, int32_t sequence, int32_t from, int32_t to) {
    (void)sequence;
    (void)to;
    fake_called("llama_memory_seq_rm %d", from);
    if (fake_number("NO_CUT", 0) != 0) return false;
    if ((uint32_t)from < memory->used) memory->used = (uint32_t)from;
    return true;
}

int32_t llama_memory_seq_pos_min(struct context *memory, int32_t sequence) {
    (void)sequence;
    return memory->used == 0 ? -1 : (int32_t)fake_number("POS_MIN", 0);
}

static void *chain_link(const char *format, double a, double b, double c, double d) {
    fake_called(format, a, b, c, d);
    return malloc(1);
}

void *llama_sampler_chain_init(struct chain_params params) {
    (void)params;
    return fake_is("NULL_AT", "sampler") ? NULL : malloc(1);
}
void llama_sampler_chain_add(void *chain, void *sampler) {
    (void)chain;
    free(sampler);
}
void llama_sampler_free(void *chain) { free(chain); }
void *llama_sampler_init_greedy(void) { return chain_link("greedy", 0, 0, 0, 0); }
void *llama_sampler_init_dist(uint32_t seed) { return chain_link("dist %.0f", seed, 0, 0, 0); }
void *llama_sampler_init_top_k(int32_t k) { return chain_link("top_k %.0f", k, 0, 0, 0); }
void *llama_sampler_init_top_p(float p, size_t keep) { return chain_link("top_p %.3f %.0f", (double)p, (double)keep, 0, 0); }
void *llama_sampler_init_min_p(float p, size_t keep) { return chain_link("min_p %.3f %.0f", (double)p, (double)keep, 0, 0); }
void *llama_sampler_init_temp(float t) { return chain_link("temp %.3f", (double)t, 0, 0, 0); }
void *llama_sampler_init_penalties(int32_t vocabulary, int32_t last, float repeat, float frequency, float presence) {
    (void)vocabulary;
    return chain_link("penalties %.0f %.3f %.3f %.3f", last, (double)repeat, (double)frequency, (double)presence);
}
#ifndef FAKE_NO_GRAMMAR
void *llama_sampler_init_grammar(const int *vocab, const char *text, const char *root) {
    (void)vocab;
    (void)root;
    return text[0] == '!' ? NULL : chain_link("grammar", 0, 0, 0, 0);
}
#endif

int32_t llama_sampler_sample(void *chain, struct context *context, int32_t index) {
    (void)chain;
    (void)index;
    if (fake_number("BAD_TOKEN", 0) != 0) return VOCABULARY + 5;
    uint8_t bytes[8192];
    if (context->written >= PIECES || piece(context->written, bytes, sizeof bytes) < 0) return END;
    return (int32_t)(PIECE + context->written++);
}

#ifndef FAKE_NO_EMBED
void llama_set_embeddings(void) {}
void llama_get_embeddings_ith(void) {}
void llama_get_embeddings_seq(void) {}
#endif

#endif
