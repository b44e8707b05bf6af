-- TDL source in Neovim 0.10 or later: put this into ~/.config/nvim/init.lua.
vim.filetype.add({ extension = { asm = "tdl", ASM = "tdl", z80 = "tdl" } })

local group = vim.api.nvim_create_augroup("tdl", {})

local function start(buffer)
  vim.lsp.start({
    name = "tdlasm",
    cmd = { "tdlasm", "lsp" },
    root_dir = vim.fs.root(buffer, { "tdl.toml", ".git" }),
  })
end

vim.api.nvim_create_autocmd("FileType", {
  group = group,
  pattern = "tdl",
  callback = function(event)
    -- Words of TDL have dots, dollars and percent signs in them; comments begin with a semicolon.
    vim.opt_local.iskeyword:append({ ".", "$", "%" })
    vim.opt_local.commentstring = "; %s"
    vim.opt_local.expandtab = true
    vim.opt_local.tabstop = 8
    -- :make assembles the file and lists its errors.
    vim.opt_local.errorformat = "%f:%l:%c: %trror[%m,%f:%l:%c: %tarning[%m"
    vim.opt_local.makeprg = "tdlasm asm --message-format short %"
    start(event.buf)
  end,
})

-- Test files: codelens.refresh() shows "Run test" and "Debug test", codelens.run() runs them.
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  group = group,
  pattern = "*.test.toml",
  callback = function(event)
    start(event.buf)
  end,
})

local function in_terminal(words)
  vim.cmd("split | terminal " .. table.concat(vim.tbl_map(vim.fn.shellescape, words), " "))
end

vim.lsp.commands["tdl.runTest"] = function(command)
  local file, case = unpack(command.arguments)
  in_terminal({ "hw-tests", "test", file, "--case", case })
end

vim.lsp.commands["tdl.debugTest"] = function(command)
  local file, case = unpack(command.arguments)
  in_terminal({ "hw-inspect", "debug", file, case })
end

-- Sources are laid out when they are written; leave this out if you would rather not.
vim.api.nvim_create_autocmd("BufWritePre", {
  group = group,
  pattern = { "*.asm", "*.ASM", "*.z80" },
  callback = function(event)
    vim.lsp.buf.format({ bufnr = event.buf, name = "tdlasm", timeout_ms = 5000 })
  end,
})

-- The debugger, if nvim-dap is installed.
local found, dap = pcall(require, "dap")
if found then
  dap.adapters.tdl = { type = "executable", command = "hw-inspect", args = { "dap" } }
  dap.configurations.tdl = {
    { type = "tdl", request = "launch", name = "This program", program = "${file}" },
    {
      type = "tdl",
      request = "launch",
      name = "e5 of Figure 1",
      fen = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -",
      square = "e5",
    },
  }
end
