-- TDL source in Neovim 0.11 or later: put this into ~/.config/nvim/init.lua.
vim.filetype.add({ extension = { asm = "tdl", ASM = "tdl" } })

vim.lsp.config("tdlasm", {
  cmd = { "tdlasm", "lsp" },
  filetypes = { "tdl" },
  root_markers = { ".git" },
})
vim.lsp.enable("tdlasm")

-- Words of TDL have dots, dollars and percent signs in them; comments begin with a semicolon.
vim.api.nvim_create_autocmd("FileType", {
  pattern = "tdl",
  callback = function()
    vim.opt_local.iskeyword:append({ ".", "$", "%" })
    vim.opt_local.commentstring = "; %s"
    vim.opt_local.expandtab = true
    vim.opt_local.tabstop = 8
    vim.opt_local.errorformat = "%f:%l:%c: %trror[%m,%f:%l:%c: %tarning[%m"
    vim.opt_local.makeprg = "tdlasm asm --message-format short %"
  end,
})
