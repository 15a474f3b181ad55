#include "cli/commands.hpp"

int main(int argc, char** argv) { return cuzk::cli::run(argc, argv); }
